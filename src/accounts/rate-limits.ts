import { MINUTE_US } from '../model/instant.ts'

/** An attempt counts against the limits below for this long. */
export const ATTEMPT_WINDOW_US = 15 * MINUTE_US

/**
 * Wrong passwords for one account from one address, in one session, for one account, and from one
 * address.
 */
export const WRONG_PASSWORDS_MAX = 5
export const WRONG_PASSWORDS_OF_ACCOUNT_MAX = 100
export const WRONG_PASSWORDS_OF_ADDRESS_MAX = 50

/** Accounts per client address. */
export const SIGN_UPS_MAX = 20
/**
 * Attempts of one user to change the email address: each reveals whether an account has the new
 * one.
 */
export const EMAIL_CHANGES_MAX = 20
/**
 * Attempts of one user to add a member: each reveals whether an account has the address.
 */
export const MEMBERS_ADDED_MAX = 20
/** Keys that one user can try to issue. Deleted keys stay in the database. */
export const KEYS_ISSUED_MAX = 100
