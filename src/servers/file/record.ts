/** A file that can't be read has one complaint. Its words follow "the file". */
export interface Unreadable {
  complaint: string
}

/** The complaint about JSON of another shape. */
export const NO_LIST = 'must be a JSON array of servers, or an answer of the API'

/** A server as a file has it, before any check of its values. */
export interface FoundRecord {
  /** Where it stands, such as `row 4`. */
  place: string
  value: unknown
  /** In characters. */
  length: number
  /** A mistake of the row itself. */
  mistake?: string
}

/**
 * Characters that an entry or a row may have, because one turn of the event loop reads it. A valid
 * one needs less than half of them, even with every character escaped.
 */
export const ENTRY_LENGTH_MAX = 16_384
