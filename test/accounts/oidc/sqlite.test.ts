import { sqliteDatabase } from '../../fixtures/dashboard.ts'
import { oidcSuites } from './suites.ts'

oidcSuites('sqlite', sqliteDatabase)
