/** A row as the database has it and as it becomes. Null: there is none. */
export interface Change<Row> {
  before: Row | null
  after: Row | null
}

/** Rows by their ids: those that the database has, and what becomes of them. */
export function createDraft<Row extends object>(rows: readonly Row[], idOf: (row: Row) => string) {
  const before = new Map(rows.map((row) => [idOf(row), row]))
  const after = new Map<string, Row | null>()
  const get = (id: string): Row | null => {
    const row = after.get(id)
    return row === undefined ? (before.get(id) ?? null) : row
  }
  return {
    get,
    /** As the database has it. */
    stored: (id: string): Row | null => before.get(id) ?? null,

    put(row: Row): 'added' | 'changed' | null {
      const present = get(idOf(row))
      if (present !== null && !differs(present, row)) return null
      after.set(idOf(row), row)
      return present === null ? 'added' : 'changed'
    },

    /** False if there is none. */
    remove(id: string): boolean {
      const isThere = get(id) !== null
      if (isThere) after.set(id, null)
      return isThere
    },

    rows: (): Row[] =>
      [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => get(id) ?? []),

    changes: (): Change<Row>[] =>
      Array.from(after, ([id, row]) => ({ before: before.get(id) ?? null, after: row })).filter(
        ({ before: was, after: is }) =>
          was === null || is === null ? was !== is : differs(was, is),
      ),
  }
}

export type Draft<Row extends object> = ReturnType<typeof createDraft<Row>>

const differs = <Row extends object>(one: Row, other: Row): boolean =>
  (Object.keys(other) as (keyof Row)[]).some((field) => one[field] !== other[field])
