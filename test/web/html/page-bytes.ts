import assert from 'node:assert/strict'
import type { Person } from '../../fixtures/person.ts'
import type { Answer } from '../../fixtures/requests.ts'

/** Bytes of a page with everything it loads, uncompressed. */
export const PAGE_BYTES_MAX = 50_000

/** The bytes of a page with its style sheet, its scripts and its icons. */
export async function bytesOf(person: Person, { body }: Pick<Answer, 'body'>): Promise<number> {
  let bytes = Buffer.byteLength(body)
  const named = body.matchAll(/(?:href|src)="(\/assets\/[^"#]+)/g)
  const loaded = new Set([...named].map(([, asset = '']) => asset))
  const more = ['class="docs"', '/assets/keys-', '/assets/chart-'].filter((mark) =>
    body.includes(mark),
  )
  assert.equal(loaded.size, 3 + more.length)
  for (const asset of loaded) bytes += Buffer.byteLength((await person.get(asset)).body)
  return bytes
}
