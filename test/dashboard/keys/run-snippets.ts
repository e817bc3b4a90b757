import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { snippetsFor } from '../../../src/dashboard/keys/snippets.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ask } from '../../fixtures/requests.ts'
import { ROOT } from '../../fixtures/tree.ts'

const run = promisify(execFile)

/** How to run each snippet, for the programs that this machine has. */
const RUNNERS: Record<string, { program: string; file: string; command: string[] }> = {
  curl: { program: 'curl', file: 'client.sh', command: ['sh'] },
  javascript: { program: 'node', file: 'client.mjs', command: [process.execPath] },
  python: { program: 'python3', file: 'client.py', command: ['python3'] },
  php: { program: 'php', file: 'client.php', command: ['php'] },
  powershell: { program: 'pwsh', file: 'client.ps1', command: ['pwsh', '-File'] },
}

/**
 * Runs each snippet whose program is installed, with a key that was just used, so that a quick
 * program gets a 429 first. Returns the ids of these snippets.
 */
export async function runSnippets(t: TestContext): Promise<string[]> {
  const { signedIn, apiPort, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const entry = { name: 'Cobblestone', address: 'play.example.com' }
  await store.saveServers(user.id, null, [entry], 1)
  const folder = temporaryFolder(t)
  provideClient(folder)
  const snippets = snippetsFor(`http://127.0.0.1:${apiPort}`).filter(({ id }) => canRun(id))
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
  return snippets.map(({ id }) => id)
}

/**
 * Lets programs in this folder import `server-listing-client`. `test/operations/client/` runs the
 * packed client.
 */
function provideClient(folder: string): void {
  const installed = join(folder, 'node_modules/server-listing-client')
  mkdirSync(installed, { recursive: true })
  const source = pathToFileURL(join(ROOT, 'client/src/index.ts'))
  writeFileSync(join(installed, 'index.mjs'), `export * from '${source.href}'`)
  writeFileSync(join(installed, 'package.json'), '{"exports":"./index.mjs"}')
}

function canRun(id: string): boolean {
  const { program, command } = RUNNERS[id]!
  const folders = (process.env.PATH ?? '').split(delimiter)
  return command[0] === process.execPath || folders.some((each) => existsSync(join(each, program)))
}
