import { formatInstant } from '../../model/instant.ts'
import { jsonArray } from '../../model/json-array.ts'
import type { ServerRecord } from '../server.ts'
import { writeCell } from './csv.ts'
import { COLUMNS } from './columns.ts'
import { valuesOf } from '../fields.ts'

/** A file of servers in parts, as `readServers` reads it. Read again, it changes nothing. */
export function serverFile(format: 'json' | 'csv'): {
  add(servers: readonly ServerRecord[]): string
  end(): string
} {
  const { add, end } = format === 'json' ? jsonArray() : csvFile()
  return { add: (servers) => add(servers.map(toRecord)), end }
}

type FileRecord = Record<string, string | null>

function toRecord(server: ServerRecord): FileRecord {
  return { id: server.id, ...valuesOf(server), updated_at: formatInstant(server.updated_at) }
}

function csvFile() {
  // With a byte order mark, spreadsheets read the text as UTF-8.
  let head = `\uFEFF${COLUMNS.join(',')}\r\n`
  const takeHead = () => {
    const taken = head
    head = ''
    return taken
  }
  return {
    add: (records: readonly FileRecord[]) => takeHead() + records.map(rowOf).join(''),
    end: takeHead,
  }
}

function rowOf(record: FileRecord): string {
  return `${COLUMNS.map((column) => writeCell(record[column] ?? '')).join(',')}\r\n`
}
