import { formatInstant } from '../../instant.ts'
import type { ServerRecord } from '../server-import.ts'
import { COLUMNS } from './columns.ts'
import { writeCell } from './csv.ts'

/** Servers as `readServers` reads them. Read again, they change nothing. */
export function writeServers(servers: readonly ServerRecord[], format: 'json' | 'csv'): string {
  const records = servers.map((server): Record<string, string | null> => {
    const { name, address, slug, edition, version, listing_kind, status } = server
    const updated_at = formatInstant(server.updated_at)
    return { name, address, slug, edition, version, listing_kind, status, updated_at }
  })
  if (format === 'json') return `${JSON.stringify(records, null, 2)}\n`
  const lines = records.map((record) =>
    COLUMNS.map((column) => writeCell(record[column] ?? '')).join(','),
  )
  // With a byte order mark, spreadsheets read the text as UTF-8.
  return `\uFEFF${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`
}
