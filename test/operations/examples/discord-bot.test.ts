import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../fixtures/eventually.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { installClient } from '../client/installed-client.ts'
import { startPolledService } from './polled-service.ts'

/*
 * The bot in docs/examples/ with the packed client, against a real service and a server that takes
 * the place of Discord.
 */

const SURVIVAL = { name: 'Survival', address: 'play.example.com', slug: 'survival' }
const CREATIVE = { name: 'Creative', address: 'build.example.com', slug: 'creative' }
/** The secret part of the webhook's address. */
const TOKEN = 'bJtY2PzsXw'

test('the bot posts each change of the published servers, waits after a 429, and ends with its webhook', async (t) => {
  const service = await startPolledService(t, ['fair'], SURVIVAL)
  const discord = await startWebhook(t, [429, 204, 503, 204, 204, 404])
  const bot = await startBot(t, { ...service, webhook: discord.url })
  await eventually(async () => service.polled.length > 0)

  const change = async (server: Parameters<typeof service.save>[0][0], answers: number) => {
    await service.save([server])
    await eventually(async () => discord.posts.length === answers)
    return discord.posts.slice(-1)[0]
  }
  await service.save([{ ...SURVIVAL, slug: 'secret', status: 'draft' }])
  const allowed_mentions = { parse: [] }
  assert.deepEqual(await change(CREATIVE, 2), {
    content: 'New: Creative, build.example.com',
    allowed_mentions,
  })
  assert.deepEqual(discord.posts[0], discord.posts[1])
  assert.ok(discord.times[1]! - discord.times[0]! >= 1_980, 'it did not wait for two seconds')
  const renamed = { ...CREATIVE, name: '@everyone' }
  assert.deepEqual(await change(renamed, 4), {
    content: 'Creative is now @everyone',
    allowed_mentions,
  })
  const moved = { ...renamed, address: 'new.example.com' }
  assert.equal((await change(moved, 5))?.content, '@everyone moved to new.example.com')
  assert.equal((await change({ ...moved, status: 'draft' }, 6))?.content, 'Gone: @everyone')

  const { code, printed } = await bot.ended
  assert.notEqual(code, 0)
  assert.match(printed, /The webhook answered 404/)
  assert.ok(!printed.includes(TOKEN) && !printed.includes(service.key.slice(0, 16)), printed)
})

test('the bot prints no address that is none', async (t) => {
  const service = await startPolledService(t, ['fair'], SURVIVAL)
  const { code, printed } = await (await startBot(t, { ...service, webhook: TOKEN })).ended
  assert.notEqual(code, 0)
  assert.match(printed, /DISCORD_WEBHOOK must be the address of a webhook/)
  assert.ok(!printed.includes(TOKEN), printed)
})

/** Answers the nth post with the nth status. */
async function startWebhook(t: TestContext, statuses: readonly number[]) {
  const posts: { content?: string }[] = []
  const times: number[] = []
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const post = (await json(request)) as { content?: string }
    times.push(performance.now())
    const status = statuses[posts.length]!
    response.writeHead(status, status === 429 ? { 'Retry-After': '2' } : {}).end()
    posts.push(post)
  }
  const server = createServer((request, response) => void take(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/api/webhooks/1/${TOKEN}`, posts, times }
}

interface Given {
  baseUrl: string
  key: string
  webhook: string
}

/** Runs the bot, which asks every two seconds instead of ten. */
async function startBot(t: TestContext, { baseUrl, key, webhook }: Given) {
  const { folder, remove } = await installClient()
  t.after(remove)
  const path = join(folder, 'discord-bot.mjs')
  const source = readFileSync(join(ROOT, 'docs/examples/discord-bot.mjs'), 'utf8')
  assert.ok(source.includes('POLL_MS = 10_000'))
  writeFileSync(path, source.replace('POLL_MS = 10_000', 'POLL_MS = 2_000'))
  const env = { BASE_URL: baseUrl, SERVER_LISTING_KEY: key, DISCORD_WEBHOOK: webhook }
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill())
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]) => ({ code: code as number | null, printed: stdout + stderr }),
  )
  return { ended }
}
