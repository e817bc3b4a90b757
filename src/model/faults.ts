/*
 * The errors that a store's request path throws, one class per answer (spec 7.2). Expected
 * outcomes, such as an unknown key, are values instead.
 */

/**
 * The store could not look up the key or record the claim. Usually the key's second is not spent.
 */
export class AuthenticationFault extends Error {
  override name = 'AuthenticationFault'
}

/**
 * The key is valid, but the store could not read its owner's servers. The key's second is not
 * spent.
 */
export class ListFault extends Error {
  override name = 'ListFault'
}

/** The service has no usable database. The message tells the operator what to fix. */
export class NotConfigured extends Error {
  override name = 'NotConfigured'
}

/**
 * The journal of revocations can't be written. What the call changed is committed, or else the call
 * changed nothing. The message is for the operator.
 */
export class NotJournaled extends Error {
  override name = 'NotJournaled'
}

/** The code broke a promise to itself. What was under way fails. */
export class BrokenInvariant extends Error {
  override name = 'BrokenInvariant'
}

/**
 * Throws BrokenInvariant unless the promise holds. Stands in pairs: at one border what is handed
 * over, and at the other what came back. Each costs a comparison, so all stay on.
 */
export function invariant(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new BrokenInvariant(`not true: ${promise}`)
}
