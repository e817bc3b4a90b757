import assert from 'node:assert/strict'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { programIn } from '../../cli/program.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ask } from '../../fixtures/requests.ts'
import { filesIn } from '../../fixtures/tree.ts'
import { blocksOf } from '../../operations/guide/blocks.ts'
import { patternOf } from '../../operations/guide/output.ts'
import { openTerminal } from '../../operations/guide/terminal.ts'
import { lastFirst } from '../history/battlefield/ends.ts'
import { mountSmallDisk } from '../history/faults/small-disk.ts'

const PAGE = 'docs/operations/incidents.md'
const DISK_MEGABYTES = 16

test('on a full disk every key gets 502, and the commands of the guide find and free room', async (t) => {
  const ends = lastFirst(t)
  const disk = mountSmallDisk(ends, DISK_MEGABYTES)
  const program = programIn(ends)
  const [data, backups] = ['data', 'backups'].map((name) => join(disk.folder, name))
  mkdirSync(backups!)
  const env = { DATABASE_URL: `sqlite:${data}/listing.db` }
  await program.done('user add --create ada@example.com', { env })
  const key = await program.done('key issue --user ada@example.com --name bot', { env })
  writeFileSync(join(disk.folder, 'bot.key'), key)
  const served = await program.serve({ env })
  const ports = /metrics at http:\/\/[^\s"]*:(\d+)/
  await served.written(ports)
  const opsPort = ports.exec(served.stdout())![1]!
  const hasStatus = (wanted: number) =>
    eventually(async () => (await ask(served.port, { key })).status === wanted)
  await hasStatus(200)

  disk.fill()
  renameSync(join(disk.folder, 'ballast'), join(data!, 'listing.db.before-restore-earlier'))
  await hasStatus(502)

  const terminal = openTerminal({
    folder: disk.folder,
    scratch: temporaryFolder(ends),
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
    user: {},
  })
  ends.after(() => terminal.close())
  const localized = (text: string) =>
    text.replaceAll('8080', String(served.port)).replaceAll('8082', opsPort)
  assert.ok((await terminal.run(localized(definitionOfAsk()))).isDone)
  const blocks = blocksOf(PAGE, (section) => section === 'the-disk-is-full')
  assert.equal(blocks.length, 2)
  for (const { at, commands, output } of blocks) {
    const ran = await terminal.run(localized(commands))
    assert.ok(ran.isDone, `${at}: ${ran.output}`)
    assert.match(ran.output, patternOf(output!), at)
  }
  await hasStatus(200)
})

/** The command `ask`, as the guide defines it. */
function definitionOfAsk(): string {
  const [page] = filesIn('docs/operations', 'install.md')
  return /^ask\(\) \{\n.*?^\}\n/ms.exec(page!.text)![0]
}
