import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { NEW } from './audited.ts'
import { commandsOn } from './command.ts'
import type { CommandScene } from './commands.ts'
import { ADA, fill } from './filled.ts'
import { sweep } from '../sweep.ts'
import type { Disturbance, Trap } from '../trap.ts'

/** Copying into PostgreSQL, with a fault at each of its calls there in turn. */
export function disturbedCopy<D extends Disturbance>(
  open: (t: TestContext) => Promise<CommandScene>,
  trap: Trap<D>,
  disturbances: readonly D[],
): void {
  test('copy: all rows arrive or none', async (t) => {
    const { url, tables: openTables } = await open(t)
    const source = `sqlite:${join(temporaryFolder(t), 'listing.db')}`
    await fill(t, source)
    const command = commandsOn(url)
    await command('migrate').run()
    const tables = await openTables()
    t.after(tables.close)
    await tables.remember()
    const copying = command(`copy --from ${source}`, {
      repeated: /must be empty/,
      audited: [
        [NEW, 'user added', ADA],
        [NEW, 'user added', 'bob@example.com'],
        [NEW, 'key issued', NEW],
      ],
    })
    // The entries are rows of the source, and not a record of this command that may be missing.
    const operation = { ...copying, following: [] }
    for (const disturbance of disturbances) {
      const calls = await sweep(operation, tables, trap, disturbance)
      t.diagnostic(`${calls} calls ${disturbance.name}`)
    }
  })
}
