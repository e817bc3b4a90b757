import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../fixtures/tree.ts'

/** A shipped file with all occurrences of these texts replaced, in this order. */
export function replaced(path: string, places: Record<string, string>): string {
  let text = readFileSync(join(ROOT, path), 'utf8')
  for (const [place, value] of Object.entries(places)) {
    assert.ok(text.includes(place), `${path} lacks ${place}`)
    text = text.replaceAll(place, value)
  }
  return text
}
