import { NotConfigured } from '../model/faults.ts'

const SQLITE_ERROR = 1
const SQLITE_BUSY = 5
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_CONSTRAINT = 19
const SQLITE_NOTADB = 26

/** Whether another connection holds the requested lock. */
export function isLocked(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY
}

/** Whether a file is none of SQLite's. */
export function isNoDatabase(error: unknown): boolean {
  return primaryCode(error) === SQLITE_NOTADB
}

/** Whether a file is damaged. */
export function isDamage(error: unknown): boolean {
  return primaryCode(error) === SQLITE_CORRUPT
}

/** Whether a disk is full. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === 'ENOSPC' || primaryCode(error) === SQLITE_FULL
}

/** Whether a row breaks a rule of the schema. */
export function breaksRule(error: unknown): boolean {
  return primaryCode(error) === SQLITE_CONSTRAINT
}

/** Whether the schema or a row refuses a statement. */
export function isRefused(error: unknown): boolean {
  return breaksRule(error) || primaryCode(error) === SQLITE_ERROR
}

/** Whether SQLite may not write a file or make one beside it. */
export function isReadOnly(error: unknown): boolean {
  return primaryCode(error) === SQLITE_READONLY
}

/** A lasting failure to open as a sentence for the operator; null for any other error. */
export function unusable(path: string, error: unknown): NotConfigured | null {
  const reason = unusableReason(error)
  if (reason === null) return null
  return new NotConfigured(`cannot use the database file ${path}: ${reason}`, { cause: error })
}

/** Why a file can't be opened, for the operator; null for any other error. */
export function unusableReason(error: unknown): string | null {
  switch (codeOf(error)) {
    case 'EACCES':
    case 'EPERM':
      return 'this user may not write there'
    case 'EROFS':
      return 'the disk is read-only'
    case 'ENOTDIR':
    case 'EEXIST':
      return 'a part of its path is a file, not a folder'
    case 'ENOENT':
      return 'a folder on its path cannot be made'
    case 'EISDIR':
      return 'it is a folder'
    case 'ENAMETOOLONG':
      return 'a part of its path is too long for a file system'
    case 'ELOOP':
      return 'its path contains a loop of symbolic links'
  }
  switch (primaryCode(error)) {
    case SQLITE_CANTOPEN:
      return 'it is a folder, the disk is read-only, or this user may not read and write it and its folder'
    case SQLITE_READONLY:
      return 'this user may not write it or its folder, or the disk is read-only'
    case SQLITE_NOTADB:
      return 'it is not an SQLite database'
    case SQLITE_CORRUPT:
      return 'it is damaged; restore a backup in its place'
    case SQLITE_IOERR:
      return 'the system cannot read or write it'
  }
  return null
}

/** Node's name of a system error, such as EEXIST. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code
}

/** 0, which is no error code of SQLite, for other errors. */
function primaryCode(error: unknown): number {
  return ((error as { errcode?: number } | undefined)?.errcode ?? 0) & 0xff
}
