import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { snippetsFor } from '../../../src/dashboard/keys/snippets.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ask } from '../../fixtures/requests.ts'

const run = promisify(execFile)

/** How to run each snippet, for the programs that this machine has. */
const RUNNERS: Record<string, { program: string; file: string; command: string[] }> = {
  curl: { program: 'curl', file: 'client.sh', command: ['sh'] },
  javascript: { program: 'node', file: 'client.mjs', command: [process.execPath] },
  python: { program: 'python3', file: 'client.py', command: ['python3'] },
  php: { program: 'php', file: 'client.php', command: ['php'] },
  powershell: { program: 'pwsh', file: 'client.ps1', command: ['pwsh', '-File'] },
}

test('each snippet waits for the second after a 429 and then prints the servers', async (t) => {
  const { signedIn, apiPort, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const entry = { name: 'Cobblestone', address: 'play.example.com' }
  await store.saveServers(user.id, null, [entry], 1)
  const folder = temporaryFolder(t)
  const snippets = snippetsFor(`http://127.0.0.1:${apiPort}`).filter(({ id }) => canRun(id))
  t.diagnostic(`runs ${snippets.map(({ id }) => id).join(', ')}`)
  assert.ok(snippets.some(({ id }) => id === 'javascript'))
  // Each has its own key, so that their seconds pass at the same time.
  await Promise.all(
    snippets.map(async ({ id, code }) => {
      const { file, command } = RUNNERS[id]!
      const key = await person.issue(id)
      const path = join(folder, file)
      writeFileSync(path, code)
      assert.equal((await ask(apiPort, { key })).status, 200)
      const env = { ...process.env, SERVER_LISTING_KEY: key }
      const { stdout } = await run(command[0]!, [...command.slice(1), path], { env })
      assert.match(stdout, /Cobblestone/, id)
      assert.match(stdout, /play\.example\.com/, id)
    }),
  )
})

test('each snippet reads the key from the environment and names the API’s URL', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const { body } = await person.post('/dashboard/api', { form: 'f', name: 'bot' })
  const labels = [...body.matchAll(/<summary>([^<]+)<\/summary>/g)].map(([, label]) => label)
  assert.deepEqual(labels, ['curl', 'JavaScript', 'Python', 'PHP', 'PowerShell'])
  for (const { id } of snippetsFor('https://api.example.com')) {
    const code = new RegExp(`<pre id="${id}"[^>]*>([^]*?)</pre>`).exec(body)?.[1] ?? ''
    assert.match(code, /SERVER_LISTING_KEY/)
    assert.match(code, /https:\/\/api\.example\.com\/v1\/servers/)
  }
  assert.match(body, /one request per second/)
})

test('a URL with quotes and dollars ends no string of any language', () => {
  for (const { code } of snippetsFor(`https://api.example.com/a'b"c$d\\e\`f`))
    assert.match(code, /api\.example\.com\/a%27b%22c%24d\/e%60f\/v1\/servers/)
})

function canRun(id: string): boolean {
  const { program, command } = RUNNERS[id]!
  // Debian has PHP's curl in a package of its own.
  if (program === 'php')
    return spawnSync('php', ['-r', 'exit(extension_loaded("curl") ? 0 : 1);']).status === 0
  const folders = (process.env.PATH ?? '').split(delimiter)
  return command[0] === process.execPath || folders.some((each) => existsSync(join(each, program)))
}
