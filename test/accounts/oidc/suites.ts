import { suite } from 'node:test'
import type { OpenDatabase } from '../../fixtures/dashboard.ts'
import { confirmingSuite } from './confirming.ts'
import { connectingSuite, withoutPasswordsSuite } from './connecting.ts'
import { habitsSuite } from './habits.ts'
import { newcomersSuite } from './newcomers.ts'
import { operatorsSuite } from './operators.ts'
import { providerTroubleSuite } from './provider-trouble.ts'
import { refusalsSuite } from './refusals.ts'
import { strangeAnswersSuite } from './strange-answers.ts'
import { wholeWaySuite } from './whole-way.ts'

/** Sign-in with the accounts of an identity provider, for each engine. */
export function oidcSuites(engine: string, open: OpenDatabase): void {
  suite(`${engine}: the way to the provider and back`, () => wholeWaySuite(open))
  suite(`${engine}: trouble at the provider`, () => providerTroubleSuite(open))
  suite(`${engine}: strange answers`, () => strangeAnswersSuite(open))
  suite(`${engine}: refused sign-ins`, () => refusalsSuite(open))
  suite(`${engine}: the habits of providers`, () => habitsSuite(open))
  suite(`${engine}: newcomers`, () => newcomersSuite(open))
  suite(`${engine}: operators`, () => operatorsSuite(open))
  suite(`${engine}: is it you?`, () => confirmingSuite(open))
  suite(`${engine}: connected sign-ins`, () => connectingSuite(open))
  suite(`${engine}: without passwords`, () => withoutPasswordsSuite(open))
}
