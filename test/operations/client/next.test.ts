import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { addOwner, issueKey } from '../../fixtures/service.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { installClient } from './installed-client.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * The page of the README in an application with Next.js, built and started by its own command.
 */

const MODULES = join(import.meta.dirname, 'node_modules')

/** Parts of the page in the README, and what replaces them. */
const DYNAMIC = /^export const dynamic.*\n/m
const KEY = 'process.env.SERVER_LISTING_KEY'
const NO_STORE = "fetch: (url, init) => fetch(url, { ...init, cache: 'no-store' })"

test('Next.js builds the page of the README, and it shows each change of the listing', async (t) => {
  const { apiPort, store } = await startDashboard(t)
  const entry = { name: 'Survival', address: 'play.example.com', slug: 'survival' }
  const { user, key } = await addOwner(store, 'ada@example.com', [entry])
  // With the same key, the no-store page could take the answer of a plain page.
  const { key: ownKey } = await issueKey(store, user)
  const baseUrl = `http://127.0.0.1:${apiPort}`
  const undeclared = pageOfReadme().replace(DYNAMIC, '')
  const plain = undeclared.replace(KEY, `'${key}'`)
  const second = `new ServerListingClient({ baseUrl: '${baseUrl}', apiKey: '${key}', ${NO_STORE} })`
  const folder = await application(t, baseUrl, {
    page: pageOfReadme(),
    'no-store/page': undeclared.replace(KEY, `'${ownKey}', ${NO_STORE}`),
    'plain/page': plain,
    'shared/page': plain.replace(
      'return',
      `await ${second}.listServers({ maxAgeMs: 60_000 })\nreturn`,
    ),
  })
  // The build of the README's page needs no key.
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }
  const next = join(MODULES, 'next/dist/bin/next')
  await promisify(execFile)(process.execPath, [next, 'build'], { cwd: folder, env })
  const built = JSON.parse(readFileSync(join(folder, '.next/prerender-manifest.json'), 'utf8'))
  // Next.js freezes its own pages, too.
  const frozen = ['/', '/no-store', '/plain', '/shared'].filter((path) => path in built.routes)
  assert.deepEqual(frozen, ['/plain', '/shared'])

  const started = spawn(process.execPath, [next, 'start', '--port', '0'], {
    cwd: folder,
    env: { ...env, SERVER_LISTING_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(started, 'exit')
  t.after(async () => {
    started.kill()
    await ended
  })
  const site = await localUrlOf(started.stdout)
  const shows = async (path: string, name: string) =>
    (await (await fetch(site + path)).text()).includes(`<p>${name}</p>`)
  for (const path of ['/', '/no-store', '/plain']) assert.ok(await shows(path, 'Survival'), path)
  await recordsOf(store).saveServers(
    user.id,
    null,
    [{ ...entry, name: 'Creative' }],
    operatorAt(Date.now() * 1000),
  )
  for (const path of ['/', '/no-store']) await eventually(() => shows(path, 'Creative'))
  assert.ok(await shows('/plain', 'Survival'))
})

function pageOfReadme(): string {
  const readme = readFileSync(join(ROOT, 'client/README.md'), 'utf8')
  // A listing may be that old, so the test would wait as long.
  return /^```jsx\n(.*?)^```/ms.exec(readme)![1]!.replace('10_000', '1_000')
}

/** The URL that Next.js prints. */
async function localUrlOf(output: Readable): Promise<string> {
  for await (const line of createInterface(output)) {
    const url = /http:\/\/localhost:\d+/.exec(line)?.[0]
    if (url !== undefined) return url
  }
  throw new Error('next start ended before it listened')
}

/** An application with these pages, in a folder that has the packed client. */
async function application(
  t: TestContext,
  baseUrl: string,
  pages: Record<string, string>,
): Promise<string> {
  const { folder, remove } = await installClient()
  t.after(remove)
  for (const name of ['next', 'react', 'react-dom'])
    symlinkSync(join(MODULES, name), join(folder, 'node_modules', name))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  // The packages of the links are elsewhere.
  write('next.config.mjs', "export default { turbopack: { root: '/' } }\n")
  write(
    'app/layout.jsx',
    'export default ({ children }) => <html lang="en"><body>{children}</body></html>\n',
  )
  for (const [name, text] of Object.entries(pages))
    write(`app/${name}.jsx`, text.replace('https://api.example.com', baseUrl))
  return folder
}
