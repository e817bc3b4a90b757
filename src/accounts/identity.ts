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
  /** An address that the provider has verified and an account can have. Null without one. */
  email: string | null
  /** Whether the person is in the group of operators. */
  isOperator: boolean
}

/** Identities per user. */
export const IDENTITIES_MAX = 5
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
  const checked = isVerified === true && typeof email === 'string' ? checkEmail(email) : null
  return {
    issuer,
    subject,
    email: checked !== null && 'email' in checked ? checked.email : null,
    // Only a list counts: a text could have the group's name as a part of another one.
    isOperator: operatorGroup !== null && Array.isArray(groups) && groups.includes(operatorGroup),
  }
}
