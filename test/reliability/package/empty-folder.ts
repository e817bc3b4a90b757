import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { ask } from '../../fixtures/requests.ts'
import { ROOT } from '../../fixtures/tree.ts'
import type { InstalledPackage } from './installed-package.ts'

const FREE_PORTS = { PORT: '0', DASHBOARD_PORT: '0', OPS_PORT: '0' }
const LISTENING = /listening on http:\/\/[^\s"]*:(\d+)/

/** The package as an operator has it: in an empty folder, on a machine without the checkout. */
export function testEmptyFolder(installedPackage: () => InstalledPackage): void {
  test('in an empty folder npx runs commands and the service, and the client asks it', async (t) => {
    const { folder: cwd, env } = installedPackage()
    const options = { cwd, env: { ...env, ...FREE_PORTS } }
    const run = async (line: string) =>
      (await promisify(execFile)('npx', ['server-listing', ...line.split(' ')], options)).stdout
    assert.match(await run('--help'), /Usage: server-listing/)
    await run('migrate')
    await run('user add ada@example.com')
    const servers = [{ name: 'Survival', address: 'play.example.com' }]
    writeFileSync(join(cwd, 'servers.json'), JSON.stringify(servers))
    await run('server import --user ada@example.com servers.json')
    const key = (await run('key issue --user ada@example.com --name bot')).trim()

    const service = spawn('npx', ['server-listing', 'serve'], { ...options, stdio: 'pipe' })
    t.after(() => service.kill('SIGTERM'))
    const ended = once(service, 'close')
    const errors = text(service.stderr)
    let log = ''
    service.stdout.setEncoding('utf8').on('data', (chunk: string) => (log += chunk))
    while (!LISTENING.test(log) && service.exitCode === null)
      await Promise.race([once(service.stdout, 'data'), ended])
    const port = Number(LISTENING.exec(log)?.[1])
    assert.equal((await ask(port, { key })).status, 200)
    writeFileSync(join(cwd, 'list.mjs'), programOfReadme(`http://127.0.0.1:${port}`))
    const clientEnv = { ...env, SERVER_LISTING_KEY: key }
    const listed = await promisify(execFile)('node', ['list.mjs'], { cwd, env: clientEnv })
    assert.equal(listed.stdout, 'Survival play.example.com\n')
    service.kill('SIGTERM')
    await ended
    assert.match(log, /"closed"/, await errors)
  })

  test('what the packed documents link to is in the package', () => {
    const { files } = installedPackage()
    const documents = filesOf(files).filter((name) => name.endsWith('.md'))
    for (const name of ['README.md', 'CHANGELOG.md', 'docs/api.md', 'docs/commands.md'])
      assert.ok(documents.includes(name), name)
    for (const name of documents) {
      const document = readFileSync(join(files, name), 'utf8')
      for (const [, target = ''] of document.matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)/g))
        assert.ok(existsSync(join(files, dirname(name), target)), `${name} links to ${target}`)
    }
  })

  test('the package has its license and the files of deploy/', () => {
    const { files } = installedPackage()
    assert.ok(existsSync(join(files, 'LICENSE')))
    assert.deepEqual(filesOf(join(files, 'deploy')), filesOf(join(ROOT, 'deploy')))
  })
}

/** The first program in the README of the client, for the API at this URL. */
function programOfReadme(url: string): string {
  const readme = readFileSync(join(ROOT, 'client/README.md'), 'utf8')
  return /^```js\n(.*?)^```/ms.exec(readme)![1]!.replace('https://api.example.com', url)
}

/** The paths of all files below a folder, but for those of packages in it. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('node_modules/'))
    .toSorted()
}
