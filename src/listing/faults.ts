/*
 * What is thrown out of a store's request path. An unknown key or a spent second is an outcome and comes back as a
 * value; these are the failures of the service itself, one class for each answer they lead to (spec 7.2).
 */

/** The key could not be looked up, or its use not recorded. As far as is known, nothing was spent. */
export class AuthenticationFault extends Error {
  override name = 'AuthenticationFault'
}

/** The key was good, but its owner's servers could not be read. Nothing was spent. */
export class ListFault extends Error {
  override name = 'ListFault'
}

/** The service has no database it could use. The message says what the operator has to set or mend. */
export class NotConfigured extends Error {
  override name = 'NotConfigured'
}
