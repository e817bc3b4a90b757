/*
 * Arrays in PostgreSQL's binary format. The driver would send each as text, which both sides would
 * have to convert. The driver sends a Buffer as it is.
 */

const BYTEA_OID = 17
const UUID_OID = 2950
const UUID_BYTES = 16
/** One dimension, a flag for nulls, the type of the elements, their count and the first index. */
const HEADER_BYTES = 20
const LENGTH_BYTES = 4
const NULL_LENGTH = -1
/** Codes of characters. */
const HYPHEN = 45
const ZERO = 48
const NINE = 57

/** A `bytea[]` of values of one length. */
export function byteaArray(values: readonly Uint8Array[]): Buffer {
  const length = values[0]?.length ?? 0
  const array = startArray(BYTEA_OID, values.length, length)
  let at = HEADER_BYTES
  for (const value of values) {
    at = array.writeInt32BE(length, at)
    array.set(value, at)
    at += length
  }
  return array
}

/** A `uuid[]`. */
export function uuidArray(values: readonly (string | null)[]): Buffer {
  const array = startArray(UUID_OID, values.length, UUID_BYTES)
  let at = HEADER_BYTES
  for (const value of values) {
    at = array.writeInt32BE(value === null ? NULL_LENGTH : UUID_BYTES, at)
    if (value === null) continue
    writeUuid(array, value, at)
    at += UUID_BYTES
  }
  return array.subarray(0, at)
}

/** Writes the digits pair by pair, which takes less time than a text without hyphens. */
function writeUuid(array: Buffer, uuid: string, from: number): void {
  let index = 0
  for (let at = from; at < from + UUID_BYTES; at += 1) {
    if (uuid.charCodeAt(index) === HYPHEN) index += 1
    array[at] = (digitAt(uuid, index) << 4) | digitAt(uuid, index + 1)
    index += 2
  }
}

/** A hexadecimal digit in either case: the low four bits of a letter count from 1. */
function digitAt(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return code > NINE ? (code & 0xf) + 9 : code - ZERO
}

function startArray(oid: number, count: number, length: number): Buffer {
  const array = Buffer.allocUnsafe(HEADER_BYTES + count * (LENGTH_BYTES + length))
  array.writeInt32BE(1, 0)
  array.writeInt32BE(1, 4)
  array.writeInt32BE(oid, 8)
  array.writeInt32BE(count, 12)
  array.writeInt32BE(1, 16)
  return array
}
