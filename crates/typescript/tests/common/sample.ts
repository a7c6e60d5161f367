#!/usr/bin/env node
import { basename, type ParsedPath } from "node:path";
import type { Missing } from "./missing";
import { OnlyAType } from "./also-missing";

interface Point { x: number; y?: OnlyAType }
type Pair<A, B = A> = readonly [A, B];
declare const elsewhere: string;
declare global { interface Array<T> { unused: Missing } }

enum Colour { Red, Green = 5, Blue, Text = "text" }
const enum Bits { A = 1 << 2, B = A | 1 }
namespace Geometry {
  export const pi = 3;
  export function area(r: number): number { return pi * r * r; }
  export namespace Inner { export class Unit { size = 1 } }
}

abstract class Shape {
  declare erased: string;
  static count = 0;
  #secret = "secret";
  constructor(public readonly name: string, protected scale = 2) { Shape.count++; }
  abstract area(): number;
  get secret(): string { return this.#secret; }
}
class Square extends Shape implements Point {
  x!: number;
  constructor(private side: number) { super("square"); }
  override area(): number { return this.side ** 2 * this.scale; }
}

function pick(value: string): string;
function pick(value: number): number;
function pick(value: unknown): unknown { return value; }
function isText(this: void, value: unknown): value is string { return typeof value === "string"; }

const point = { x: 1 } satisfies Point as Point;
const identity = <T,>(value: T): T => value;
const pair: Pair<number> = [1, 2] as const;

function loud(_target: object, key: string, descriptor: PropertyDescriptor): void {
  const inner = descriptor.value;
  descriptor.value = function (...values: number[]) { return `${key}:${inner.apply(this, values)}`; };
}
function named(name: string) { return (target: any) => { target.label = name; }; }
@named("decorated")
class Decorated { @loud twice(n: number) { return n * 2; } }

console.log(Colour.Green, Colour[6], Colour.Text, Bits.B);
console.log(Geometry.area(2), new Geometry.Inner.Unit().size);
console.log(new Square(3).area(), new Square(1).name, new Square(1).secret, Shape.count);
console.log(pick(1), isText("a"), point?.y ?? "none", identity<number>(3)!, pair.length);
console.log(new Decorated().twice(4), (Decorated as any).label);
console.log(basename("/a/b.ts"), /[)'"`]/.test("`"), import.meta.url.startsWith("file:"));
{
  using file = { [Symbol.dispose]() { console.log("closed"); } };
  console.log("open");
}
await Promise.resolve();
export { point };
