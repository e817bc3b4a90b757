import type { Actor } from '../../model/audit.ts'
import { createParts } from '../import-parts.ts'
import { countNothing, type ImportCounts } from '../server-import.ts'
import type { Store } from '../../database/store.ts'
import { count } from '../../model/text.ts'
import { inBatches } from '../../database/batches.ts'
import { Failure } from '../../terminal/errors.ts'
import { createProgress } from '../../terminal/output.ts'
import type { Shell } from '../../terminal/shell.ts'
import type { ReadFile } from './server-file.ts'
import { serverImports } from '../records/server-imports.ts'

/** Saves the servers of a file, a part at a time. */
export async function saveInBatches(
  shell: Shell,
  store: Pick<Store, 'database' | 'isServed'>,
  userId: string,
  organizationId: string | null,
  { entries, places }: ReadFile,
  actor: Actor,
): Promise<ImportCounts> {
  const progress = createProgress(shell)
  const total = countNothing()
  const parts = createParts(entries)
  let done = 0
  await inBatches(async (rows) => {
    const part = parts.next(rows)
    const saved = await serverImports(store.database)
      .saveServers(
        userId,
        organizationId,
        part.map((position) => entries[position]!),
        actor,
        {
          hasSlug: parts.hasSlug,
          placeOf: (position) => places[part[position]!]!,
        },
      )
      .catch((error: Error) => error.message)
    const [wrong] = typeof saved === 'string' ? [] : saved.wrong
    if (typeof saved === 'string' || wrong !== undefined) {
      progress.clear()
      const reason =
        typeof saved === 'string'
          ? `${saved}. Run the same import again to finish`
          : `${wrong!.place}: ${wrong!.message}. Correct the file, then run the import again`
      throw new Failure(
        `imported ${count(done)} of ${count(entries.length)} servers, then failed: ${reason}`,
      )
    }
    for (const kind of ['added', 'changed', 'unchanged', 'duplicates'] as const)
      total[kind] += saved[kind]
    done += part.length
    progress.show(`imported ${count(done)} of ${count(entries.length)} servers`)
    return part.length
  }, store.isServed)
  progress.clear()
  return total
}
