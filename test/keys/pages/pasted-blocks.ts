import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ask } from '../../fixtures/requests.ts'
import { openTerminal } from '../../operations/guide/terminal.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Does what a newcomer does with the page of a new key: pastes the blocks into a fresh shell.
 */

const SERVER = { name: 'Cobblestone', address: 'play.example.com' }
/** Debian's own Python may stand behind another one. */
const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`

/** A block of the page: text for the shell, or a file to save. */
interface ShownBlock {
  file: string | null
  code: string
}

interface ShownSnippet {
  label: string
  blocks: ShownBlock[]
  /** Empty if the language has none. */
  withEnvFile: string
}

/** A way to set the key and a language, by the labels of the page. */
export interface Paste {
  setting: string
  language: string
}

/**
 * Issues a key for each paste and pastes the blocks that its page shows, in their order. The key
 * was just used, so a quick program gets a 429 first. Fails if a shell does not print the servers.
 */
export async function pasteBlocks(t: TestContext, pastes: readonly Paste[]): Promise<void> {
  const dashboard = await startDashboard(t, { baseUrl: null })
  // Each has its own user and key, so that their seconds pass at the same time.
  await Promise.all(pastes.map((paste) => pasteOne(t, dashboard, paste)))
}

async function pasteOne(
  t: TestContext,
  { signedIn, apiPort, store }: TestDashboard,
  { setting, language }: Paste,
): Promise<void> {
  const label = `${setting}, ${language}`
  const { person, user } = await signedIn(`${label.toLowerCase().replace(/\W+/g, '-')}@example.com`)
  await recordsOf(store).saveServers(user.id, null, [SERVER], operatorAt(1))
  const { body } = await person.post('/dashboard/api', { form: 'f', name: 'bot' })
  const [key = ''] = /svc_live_[0-9a-f]{64}/.exec(body) ?? []
  assert.equal((await ask(apiPort, { key })).status, 200)

  const [folder, scratch] = [temporaryFolder(t), temporaryFolder(t)]
  const terminal = openTerminal({
    folder,
    scratch,
    env: { PATH, HOME: folder, TMPDIR: scratch },
    user: {},
  })
  t.after(terminal.close)
  let printed = ''
  for (const { file, code } of blocksOf(body, { setting, language })) {
    if (file !== null) writeFileSync(join(folder, file), code)
    else {
      const { output, isDone } = await terminal.run(`${code}\n`)
      assert.ok(isDone, `${label} failed:\n${code}\nIt printed:\n${output}`)
      printed += output
    }
  }
  assert.match(printed, /Cobblestone/, label)
  assert.match(printed, /play\.example\.com/, label)
}

/** The blocks to paste for a way to set the key and a language. */
function blocksOf(body: string, { setting, language }: Paste): ShownBlock[] {
  const set = shownSnippets(body, 'setting').find(({ label }) => label === setting)!
  const { blocks, withEnvFile } = shownSnippets(body, 'language').find(
    ({ label }) => label === language,
  )!
  const hasFile = set.blocks.some(({ file }) => file !== null)
  if (!hasFile || withEnvFile === '') return [...set.blocks, ...blocks]
  // Then the file need not be loaded into the shell.
  const command = { file: null, code: withEnvFile }
  return [...set.blocks, ...blocks].filter(({ file }) => file !== null).concat(command)
}

/** The snippets that a page shows in one of its lists. */
export function shownSnippets(body: string, list: 'setting' | 'language'): ShownSnippet[] {
  const found = body.matchAll(
    new RegExp(`<details name="${list}"[^>]*><summary>([^<]+)</summary>(.*?)</details>`, 'gs'),
  )
  return [...found].map(([, label = '', text = '']) => ({
    label,
    blocks: [...text.matchAll(/<pre ([^>]*)>(.*?)<\/pre>/gs)].map(([, names = '', code = '']) => ({
      file: /data-file="([^"]+)"/.exec(names)?.[1] ?? null,
      code: unescapeHtml(code),
    })),
    withEnvFile: unescapeHtml(/With the key in a file: <code>(.*?)<\/code>/.exec(text)?.[1] ?? ''),
  }))
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

function unescapeHtml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!)
}
