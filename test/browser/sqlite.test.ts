import { suite } from 'node:test'
import { sqliteDatabase } from '../fixtures/dashboard.ts'
import { accessiblePages } from './accessible.ts'
import { browserSuite } from './browser-suite.ts'
import { hostilePages } from './hostile.ts'

const launched = browserSuite('SQLite', sqliteDatabase)

// What pages look like does not depend on the engine.
suite('Chromium: accessible and light', () => accessiblePages(sqliteDatabase, launched))
suite('Chromium: hostile names', () => hostilePages(sqliteDatabase, launched))
