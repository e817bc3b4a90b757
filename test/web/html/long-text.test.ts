import assert from 'node:assert/strict'
import { test } from 'node:test'
import { showLongText } from '../../../src/web/html/text.ts'

const SIGNS = '<b>🏰&"\'</b>'

test('a long text is escaped whole, and other work runs meanwhile', async (t) => {
  let turns = 0
  let next = setImmediate(function turn() {
    turns += 1
    next = setImmediate(turn)
  })
  t.after(() => clearImmediate(next))
  const shown = await showLongText(SIGNS.repeat(100_000))
  assert.equal(String(shown), '&lt;b&gt;🏰&amp;"\'&lt;/b&gt;'.repeat(100_000))
  // Over a million characters.
  assert.ok(turns > 10, `${turns} turns`)
  assert.equal(String(await showLongText('')), '')
})
