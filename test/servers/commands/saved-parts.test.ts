import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { saveInBatches } from '../../../src/servers/commands/saved-parts.ts'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { commandsIn } from '../../cli/command.ts'
import { recordsOf } from '../../fixtures/records.ts'

test('a row that is wrong only when it is saved is named, with the advice to correct it', async (t) => {
  const program = commandsIn(t)
  await program.done('user add ada@example.com --create')
  const stdin = 'name,address\na,a.example.com\n'
  await program.done('server import --user ada@example.com -', { stdin })
  const store = await openSqliteStore(program.databasePath, { create: false })
  t.after(() => store.close())
  const { id } = (await recordsOf(store).findUser('ada@example.com'))!
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const shell = { stdin: stdout, stdout, stderr, env: {} }
  const read = {
    entries: [{ name: 'b', address: 'a.example.com' }],
    places: ['row 4'],
    isFullAnswer: false,
    source: 'servers.csv',
  }
  const saved = saveInBatches(shell, store, id, null, read, operatorAt(1))
  await assert.rejects(saved, {
    message:
      'imported 0 of 1 servers, then failed: row 4: "name" is "b", but the server with this ' +
      'address and edition is "a". Rename that server in the dashboard, or give this one a slug of ' +
      'its own. Correct the file, then run the import again',
  })
})
