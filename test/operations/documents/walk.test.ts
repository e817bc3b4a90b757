import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { codeBlocksOf } from './code-blocks.ts'
import { freeFixedPort, startDaemon } from '../../fixtures/daemon/daemon.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { openTerminal, type Terminal } from '../guide/terminal.ts'
import { WALKED } from './walked.ts'

/*
 * Runs the commands of documents that are no guides. Each document has a running service with an
 * empty database of its own.
 */

/** What a reader has before the first block of a document. */
const BEFORE: Record<string, string> = {
  'docs/api.md':
    'server-listing user add ada@example.com; server-listing key issue --user ada@example.com --name bot > key.txt',
  'docs/management.md': 'server-listing user add ada@example.com --external-id 4711',
  'docs/dashboard.md': 'echo a-long-enough-password > password.txt',
}

for (const page of WALKED)
  test(`the commands of ${page} work`, async (t) => {
    const { terminal, localized } = await startPage(t)
    await run(terminal, `before ${page}`, BEFORE[page] ?? 'true')
    const markdown = readFileSync(join(ROOT, page), 'utf8')
    for (const { at, language, text, notRun } of codeBlocksOf(markdown, page))
      if (language === 'sh' && notRun === null) await run(terminal, at, localized(text))
  })

async function run(terminal: Terminal, at: string, commands: string): Promise<void> {
  // The limit of the key.
  if (commands.includes('curl -i')) await delay(1_000)
  const { isDone, output } = await terminal.run(`${commands}\n`)
  assert.ok(isDone, `${at} failed:\n${commands}\nIt printed:\n${output}`)
  if (commands.includes('curl -i')) assert.match(output, /^HTTP\/1\.1 200 OK\r$/m, at)
}

/** A running service, and a terminal in a folder from which npx finds the program. */
async function startPage(
  t: TestContext,
): Promise<{ terminal: Terminal; localized(text: string): string }> {
  const [folder, scratch] = [temporaryFolder(t), temporaryFolder(t)]
  const program = join(ROOT, 'bin/server-listing.js')
  const programs = join(folder, 'node_modules/.bin')
  mkdirSync(programs, { recursive: true })
  symlinkSync(program, join(programs, 'server-listing'))
  const ports = new Set<number>()
  while (ports.size < 4) ports.add(await freeFixedPort())
  const [port = 0, opsPort = 0, dashboardPort = 0, managementPort = 0] = ports
  const tokensFile = join(folder, 'tokens')
  writeFileSync(tokensFile, `site ${hash('sha256', 'TOKEN')}\n`)
  const settings = {
    DATABASE_URL: `sqlite:${join(folder, 'listing.db')}`,
    PORT: String(port),
    DASHBOARD_PORT: String(dashboardPort),
    OPS_PORT: String(opsPort),
    MANAGEMENT_PORT: String(managementPort),
    MANAGEMENT_TOKENS_FILE: tokensFile,
  }
  const file = join(folder, 'server-listing.env')
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
  const env = {
    ...settings,
    HOME: folder,
    LANG: 'C.UTF-8',
    PATH: `${programs}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  }
  const log = join(scratch, 'service.log')
  await startDaemon(t, process.execPath, [program, 'serve'], { port: opsPort, log, env })
  const terminal = openTerminal({ folder, scratch, env, user: {} })
  t.after(terminal.close)
  return {
    terminal,
    localized: (text) =>
      text
        .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
        .replaceAll('127.0.0.1:8082', `127.0.0.1:${opsPort}`)
        .replaceAll('127.0.0.1:8083', `127.0.0.1:${managementPort}`)
        .replaceAll('/etc/server-listing.env', file)
        .replaceAll('read -rs k;', 'read -rs k < key.txt;')
        // A shell reads the key where the document has its beginning.
        .replaceAll("'svc_live_…'", '"$(cat key.txt)"'),
  }
}
