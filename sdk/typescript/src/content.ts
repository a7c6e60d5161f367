// Bytes in JSON: a text, or {"base64": ...} where they are none.

/** Bytes as they stand in JSON. */
export type Content = string | { base64: string };

/** The bytes of a value. */
export function toBytes(value: Content | null | undefined): Uint8Array {
  if (value == null) return new Uint8Array();
  return typeof value === "string" ? Buffer.from(value) : Buffer.from(value.base64, "base64");
}

/** The other way round. */
export function toContent(value: string | Uint8Array): Content {
  return typeof value === "string" ? value : { base64: Buffer.from(value).toString("base64") };
}

/** Bytes as text; what is not UTF-8 is replaced. */
export function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}
