import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../../fixtures/tree.ts'

interface Given {
  service: string
  key: string
}

/** Runs each block of JavaScript in the README of the client, in the folder of an installation. */
export async function runReadme(folder: string, { service, key }: Given): Promise<void> {
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, `${key}\n`)
  const readme = readFileSync(join(ROOT, 'client/README.md'), 'utf8')
    .replaceAll('https://api.example.com', service)
    .replaceAll('/run/secrets/server-listing-key', keyFile)
  const [
    list = '',
    watch = '',
    outage = '',
    recent = '',
    stop = '',
    file = '',
    errors = '',
    ...more
  ] = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code)
  assert.deepEqual(more, [])

  let programs = 0
  const write = (code: string) => {
    programs += 1
    const path = join(folder, `readme-${programs}.mjs`)
    writeFileSync(path, code)
    return path
  }
  const options = { env: { ...process.env, SERVER_LISTING_KEY: key } }
  const outputOf = async (code: string, env = options.env) => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [write(code)], { env })
    return stdout + stderr
  }

  assert.equal(await outputOf(list), 'Survival play.example.com\n')
  for (const call of [recent, stop])
    assert.equal(
      await outputOf(`${list}${call}console.log(servers.length)`),
      'Survival play.example.com\n1\n',
    )
  const withFile = list.replace(/^const client = .*?^\}\)\n/ms, file)
  assert.equal(await outputOf(withFile), 'Survival play.example.com\n')
  const refused = { ...options.env, SERVER_LISTING_KEY: `${key.slice(0, -4)}0000` }
  const onlyClient = list.replace(/^for .*/m, '')
  assert.equal(await outputOf(`${onlyClient}${errors}`, refused), 'The key was revoked.\n')

  const ended = (ms: number) => `${list}setTimeout(() => process.exit(), ${ms})\n`
  const watched = 'Survival play.example.com\n1 servers\n'
  assert.equal(await outputOf(ended(4_000) + watch), watched)
  const cutOff = `const { fetch } = globalThis
let requests = 0
globalThis.fetch = (...request) => {
  requests += 1
  return requests < 2 ? fetch(...request) : Promise.reject(new TypeError('the network is gone'))
}
`
  const output = await outputOf(ended(6_000) + cutOff + outage)
  assert.ok(output.startsWith(`${watched}The list is old. {\n`), output)
}
