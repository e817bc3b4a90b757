import type { Driver } from '../load/driver.ts'
import type { Keys, Scene } from '../scene.ts'
import type { Subject } from '../subject.ts'

/** The service, the server to compare it with, and the load on both. */
export interface Bench extends Scene {
  service: Subject
  bare: Subject
  keys: Keys
  driver: Driver
}
