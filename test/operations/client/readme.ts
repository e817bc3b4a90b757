import assert from 'node:assert/strict'
import { execFile, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
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

  const watched = 'Survival play.example.com\n1 servers\n'
  await prints(write(list + watch), watched, options)
  const cutOff = `const { fetch } = globalThis
let requests = 0
globalThis.fetch = (...request) => {
  requests += 1
  return requests < 2 ? fetch(...request) : Promise.reject(new TypeError('the network is gone'))
}
`
  await prints(write(list + cutOff + outage), `${watched}The list is old. {\n`, options)
}

/** Runs a program that does not end, until it has printed this. */
async function prints(program: string, expected: string, options: SpawnOptions): Promise<void> {
  const running = spawn(process.execPath, [program], { ...options, stdio: 'pipe' })
  const ended = once(running, 'exit')
  let printed = ''
  for await (const chunk of running.stdout) {
    printed += String(chunk)
    if (printed.length >= expected.length) running.kill()
  }
  await ended
  assert.ok(printed.startsWith(expected), printed)
}
