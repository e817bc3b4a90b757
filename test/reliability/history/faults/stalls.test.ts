import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Incident, now } from '../record/record.ts'
import { watchForStalls } from './stalls.ts'

test('a calm period begins after the last stall, which the record has', async (t) => {
  const incidents: Incident[] = []
  const stalls = watchForStalls({ incidents })
  t.after(() => stalls.stop())
  const calm = stalls.calm(() => 100)
  const begun = now()
  while (now() - begun < 300_000);
  const ended = now()
  assert.ok((await calm) >= ended)
  assert.ok(incidents.some(({ t0, t1 }) => t0 <= ended && t1 >= ended))
})
