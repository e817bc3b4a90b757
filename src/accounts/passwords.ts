/**
 * The length of a password in characters. Any character is allowed, because length makes guessing
 * hard.
 */
export const PASSWORD_LENGTH_MIN = 10
export const PASSWORD_LENGTH_MAX = 128

/**
 * The error of an invalid password, in words that follow "the password must". Null if it is valid.
 */
export function complaintAboutPassword(password: string, email: string | null): string | null {
  const length = [...password].length
  if (length < PASSWORD_LENGTH_MIN || length > PASSWORD_LENGTH_MAX)
    return `have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters, not ${length}`
  if (!password.isWellFormed()) return 'be well-formed Unicode'
  if (password.toLowerCase() === email?.toLowerCase()) return 'not be the email address'
  return null
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
