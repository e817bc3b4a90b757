import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { hashApiKey } from '../../../src/listing/api-key.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { runHere, setDatabase } from '../here.ts'

export const hashOf = (key: string) => hashApiKey(key).toString('hex')
export const fileOf = (...users: object[]) => JSON.stringify({ format_version: 1, users })

/** An empty database, and what exporting it prints. */
export async function empty(
  t: TestContext,
): Promise<{ folder: string; exported(): Promise<string> }> {
  const folder = temporaryFolder(t)
  setDatabase(t, `sqlite:${join(folder, 'listing.db')}`)
  await runHere('migrate')
  return { folder, exported: async () => (await runHere('export')).stdout }
}
