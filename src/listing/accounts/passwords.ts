import type { AddressedUser } from './user.ts'

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

export interface PasswordStore {
  /** True if any user can sign in. */
  hasAccounts(): Promise<boolean>
  /** Adds a user who can sign in. False if the email address or the external id is taken. */
  insertUserWithPassword(user: AddressedUser, passwordHash: string): Promise<boolean>
  /**
   * Uses the setup link's token for the first user who can sign in. If a user without a password
   * has this email address, that user gets the password. Otherwise adds the user. Returns the
   * user's id, or null if the link is used up or the user is disabled.
   */
  insertFirstUser(
    user: AddressedUser,
    passwordHash: string,
    setupToken: string,
  ): Promise<string | null>
  /** Sets the password, ends all of the user's sessions and invalidates the setup link. */
  setPassword(userId: string, passwordHash: string): Promise<void>
  /**
   * The same as `setPassword`, if `checked` is still the hash of the user's password. False if
   * another change or sign-in has replaced it: of two changes that checked one password, one is
   * made.
   */
  changePassword(userId: string, checked: string, passwordHash: string): Promise<boolean>
  /** Changes the email address, if `checked` is still the hash of the user's password. */
  changeEmail(userId: string, checked: string, email: string): Promise<EmailChange>
  /** The password of the user with this email address. Null without one, or if disabled. */
  findPassword(email: string): Promise<StoredPassword | null>
  /** The hash of the user's password. Null without one, or if the user is disabled. */
  findPasswordHash(userId: string): Promise<string | null>
}

/**
 * `taken`: another user has the email address. `outdated`: another change or sign-in has replaced
 * the password's hash.
 */
export type EmailChange = 'changed' | 'taken' | 'outdated'

/** Secrets that the service makes by itself. */
export type SecretName = 'setup'

export interface SecretStore {
  /** The secret with this name. If there is none, stores `fresh`. All callers get the same one. */
  keepSecret(name: SecretName, fresh: string): Promise<string>
  /** The secret with this name, or null. */
  findSecret(name: SecretName): Promise<string | null>
}
