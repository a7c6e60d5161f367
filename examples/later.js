// JavaScript: asynchronous work, awaited in order.

const later = (milliseconds, value) =>
  new Promise((resolve) => setTimeout(() => resolve(value), milliseconds));

async function main() {
  const parts = await Promise.all([later(20, "promises"), later(10, "are"), later(1, "kept")]);
  console.log(parts.join(" "));
}

main();
