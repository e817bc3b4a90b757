import { readFile } from 'node:fs/promises'

/**
 * The length of a password in characters. Any character is allowed, because length makes guessing
 * hard.
 */
export const PASSWORD_LENGTH_MIN = 10
export const PASSWORD_LENGTH_MAX = 128

/**
 * The error of an invalid new password, in words that follow "the password must". Null if it is
 * valid.
 */
export async function complaintAboutPassword(
  password: string,
  email: string | null,
): Promise<string | null> {
  const length = [...password].length
  if (length < PASSWORD_LENGTH_MIN || length > PASSWORD_LENGTH_MAX)
    return `have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters, not ${length}`
  if (!password.isWellFormed()) return 'be well-formed Unicode'
  if (password.toLowerCase() === email?.toLowerCase()) return 'not be the email address'
  if (await isCommon(password))
    return 'not be one of the most common ones; choose another one, such as a few random words'
  return null
}

/** Compared without case, and as the hash takes it. Reads the list each time, and keeps nothing. */
async function isCommon(password: string): Promise<boolean> {
  const list = await readFile(new URL('./common-passwords.txt', import.meta.url), 'utf8')
  return list.includes(`\n${password.normalize('NFKC').toLowerCase()}\n`)
}

/** The stored form of a user's password. */
export interface StoredPassword {
  userId: string
  hash: string
}

/**
 * `taken`: another user has the email address. `outdated`: another change or sign-in has replaced
 * the password's hash.
 */
export type EmailChange = 'changed' | 'taken' | 'outdated'

/** Secrets that the service makes by itself. */
export type SecretName = 'setup'
