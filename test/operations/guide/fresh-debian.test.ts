import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { lastFirst } from '../../reliability/history/battlefield/ends.ts'
import { bootstrapDebian } from '../debian.ts'
import { blocksOf, guideParts } from './blocks.ts'
import { networkEnvironment, prepareWalk } from './empty-folder.ts'
import { patternOf } from './output.ts'
import { openTerminal } from './terminal.ts'

const PAGE = 'docs/operations/install.md'
/** Debian's npm comes with several hundred packages. */
const TIMEOUT_MS = 25 * 60_000

test('a Debian without Node.js gets it as the guide shows, and the first request is answered', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const blocks = blocksOf(PAGE)
  const first = blocks.findIndex(({ commands }) => commands === 'ask bot.key\n')
  const walked = blocks.slice(0, first + 1)
  assert.match(walked.at(-1)!.output!, /^200$/m)
  const asRoot = guideParts()
    .flatMap((part) => part.blocks)
    .filter((block) => block.asRoot)
  assert.deepEqual(
    asRoot,
    walked.filter((block) => block.asRoot),
  )

  const ends = lastFirst(t)
  const root = freshDebian(ends)
  const walk = await prepareWalk(ends, root)
  const machine = openTerminal({
    folder: root,
    scratch: join(root, 'root'),
    env: { ...networkEnvironment(), HOME: '/root', PATH: '/usr/local/bin:/usr/sbin:/usr/bin' },
    user: {},
    root,
  })
  ends.after(() => machine.close())
  assert.ok((await machine.run('! type node npm\n')).isDone, 'the Debian has Node.js already')
  for (const { at, commands, output, asRoot: isAsRoot } of walked) {
    const ran = await (isAsRoot ? machine : walk.terminal).run(walk.localized(commands))
    assert.ok(ran.isDone, `${at} failed:\n${commands}\nIt printed:\n${ran.output}`)
    if (output !== null) assert.match(ran.output, patternOf(walk.localized(output)), at)
  }
})

/** A Debian 12 in a folder on a disk. */
function freshDebian(t: Pick<TestContext, 'after'>): string {
  const root = mkdtempSync(join(tmpdir(), 'server-listing-debian-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  chmodSync(root, 0o755)
  bootstrapDebian(root)
  // No package has to survive a power loss, and the machine may be slow to sync.
  writeFileSync(join(root, 'etc/dpkg/dpkg.cfg.d/unsafe'), 'force-unsafe-io\n')
  trustOfMachine(root)
  return root
}

/** A network with a proxy of its own may need a certificate of its own. */
function trustOfMachine(root: string): void {
  const certificates = process.env.NODE_EXTRA_CA_CERTS
  if (certificates === undefined) return
  for (const path of [certificates, '/usr/local/share/ca-certificates/machine.crt']) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    copyFileSync(certificates, join(root, path))
  }
}
