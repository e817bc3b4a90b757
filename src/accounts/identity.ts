import { HOUR_US } from '../model/instant.ts'
import { complaintAboutLine } from '../model/text.ts'
import { checkEmail } from '../model/email.ts'

/** Who a user is to an identity provider. No other claim identifies a user. */
export interface Identity {
  /** As OIDC_ISSUER has it. */
  issuer: string
  subject: string
}

/** What an identity provider says about the person who signed in. */
export interface ProvidedUser extends Identity {
  /** An address that the provider has verified, or why the account gets none. */
  email: { verified: string } | AddressRefusal
  /** Whether the person is in the group of operators. */
  isOperator: boolean
}

/** Why a provider brings no address. */
export type AddressRefusal = 'address missing' | 'address not verified' | 'address not usable'

/** Why a person gets no session. The audit log stores these words, so never rename one. */
export type SignInRefusal =
  | AddressRefusal
  | 'no account'
  | 'address of an operator'
  | 'account disabled'
  | 'account banned'
  | 'account has another sign-in'

/** Why a session gets no identity, or stays as old as it is. The audit log stores these words. */
export type SessionRefusal =
  | 'session ended'
  | 'another account'
  | 'not asked again'
  | 'too many sign-ins'

/** For this long, one entry of the audit log stands for all refusals that it describes. */
export const REFUSAL_NOTED_US = HOUR_US

/** Characters of a subject, by OpenID Connect Core 1.0, section 2. */
const SUBJECT_LENGTH_MAX = 255

/** Claims as a provider sends them. */
export type Claims = Readonly<Record<string, unknown>>

/**
 * Reads the claims of an ID token and of the UserInfo response. A provider may send a claim in
 * either. Null if the subject can't identify a user.
 */
export function readClaims(
  issuer: string,
  idToken: Claims,
  userInfo: Claims,
  operatorGroup: string | null,
): ProvidedUser | null {
  const { sub: subject } = idToken
  if (typeof subject !== 'string' || complaintAboutLine(subject, SUBJECT_LENGTH_MAX) !== null)
    return null
  // One source for both claims, so that neither vouches for an address of the other.
  const { email, email_verified: isVerified } = 'email' in userInfo ? userInfo : idToken
  const { groups } = 'groups' in userInfo ? userInfo : idToken
  return {
    issuer,
    subject,
    email: readAddress(email, isVerified),
    // Only a list counts: a text could have the group's name as a part of another one.
    isOperator: operatorGroup !== null && Array.isArray(groups) && groups.includes(operatorGroup),
  }
}

function readAddress(email: unknown, isVerified: unknown): ProvidedUser['email'] {
  if (typeof email !== 'string' || email === '') return 'address missing'
  if (isVerified !== true) return 'address not verified'
  const checked = checkEmail(email)
  return 'email' in checked ? { verified: checked.email } : 'address not usable'
}
