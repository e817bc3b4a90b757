import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertRefused } from '../../cli/command.ts'
import { programIn } from '../../cli/program.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ask } from '../../fixtures/requests.ts'

test('services and commands refuse a database file that is itself a mount point', async (t) => {
  const program = programIn(t)
  await program.done('user add ada@example.com --create')
  const mounted = join(temporaryFolder(t), 'listing.db')
  writeFileSync(mounted, '')
  execFileSync('mount', ['--bind', program.databasePath, mounted])
  try {
    const env = { DATABASE_URL: `sqlite:${mounted}` }
    assertRefused(await program.run('user list', { env }), 1, mounted, 'mount point', 'its folder')
    const served = await program.serve({ env })
    assert.equal((await ask(served.port, { key: 'svc_live_any' })).status, 503)
    assert.match(served.stdout(), /is a mount point of its own/)
    served.kill('SIGTERM')
    await served.ended
    assert.deepEqual(await program.done('user list --json').then(JSON.parse).then(emails), [
      'ada@example.com',
    ])
  } finally {
    execFileSync('umount', [mounted])
  }
})

function emails(users: { email: string }[]): string[] {
  return users.map(({ email }) => email)
}
