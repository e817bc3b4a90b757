import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
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
  const [list = '', watch = '', stop = '', file = '', errors = '', ...more] = [
    ...readme.matchAll(/^```js\n(.*?)^```/gms),
  ].map(([, code = '']) => code)
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
  assert.equal(
    await outputOf(`${list}${stop}console.log(servers.length)`),
    'Survival play.example.com\n1\n',
  )
  const withFile = list.replace(/^const client = .*?^\}\)\n/ms, file)
  assert.equal(await outputOf(withFile), 'Survival play.example.com\n')
  const refused = { ...options.env, SERVER_LISTING_KEY: `${key.slice(0, -4)}0000` }
  const onlyClient = list.replace(/^for .*/m, '')
  assert.equal(await outputOf(`${onlyClient}${errors}`, refused), 'The key was revoked.\n')

  const watching = spawn(process.execPath, [write(`${list}${watch}`)], {
    ...options,
    stdio: 'pipe',
  })
  const ended = once(watching, 'exit')
  let printed = ''
  for await (const chunk of watching.stdout) {
    printed += String(chunk)
    if (printed.includes('1 servers')) watching.kill()
  }
  await ended
  assert.equal(printed, 'Survival play.example.com\n1 servers\n')
}
