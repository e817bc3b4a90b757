import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { NAMED_SETTINGS } from '../../src/config/settings.ts'

test('no setting has what a reader of a file leaves on a value, and no message shows it', () => {
  const names = [...NAMED_SETTINGS.map(([name]) => name), 'NODE_ENV']
  for (const name of names)
    for (const [value, complaint] of [
      ['hunter2\r', 'have no line end and no other control character. A shell keeps the line'],
      ['hunt\ner2', 'have no line end and no other control character. A shell keeps the line'],
      ['hunter2 ', 'not begin or end with a space'],
      ['\u00a0hunter2', 'not begin or end with a space'],
      ['"hunter2"', 'have no quotes around it. `docker run --env-file` keeps the quotes of a file'],
      ["'hunter2'", 'have no quotes around it. `docker run --env-file` keeps the quotes of a file'],
    ] as const) {
      const read = readConfig({ [name]: value })
      // The service runs without a usable database, and says why.
      const complaints =
        'complaints' in read
          ? read.complaints
          : [read.config.database.engine === null ? read.config.database.problem : '']
      assert.ok(
        complaints.some((each) => each.startsWith(`${name} must ${complaint}`)),
        name,
      )
      assert.doesNotMatch(complaints.join(), /hunt/)
    }
  const read = readConfig({ SITE_NAME: `the "best" 'list'`, HOST: '', NODE_ENV: '' })
  assert.ok('config' in read)
})
