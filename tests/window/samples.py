"""Texts as a window holds them, and how many tokens they really have."""

from __future__ import annotations

import json

PYTHON = '''\
    def next_batch(self, limit: int = 100) -> list[Order]:
        """Orders that nobody has taken yet, oldest first."""
        rows = self._connection.execute(
            "SELECT id, customer_id, total FROM orders WHERE state = ? LIMIT ?", ("open", limit)
        ).fetchall()
        if not rows:
            return []
        orders = [Order(id=row[0], customer=row[1], total=Decimal(row[2])) for row in rows]
        for order in orders:
            self._taken.setdefault(order.customer, []).append(order.id)
        logger.info("took %d orders in %.2f s", len(orders), time.monotonic() - began)
        return sorted(orders, key=lambda order: (order.customer, -order.total))
'''

TYPESCRIPT = """\
export async function loadProfile(userId: string, options: LoadOptions = {}): Promise<Profile> {
  const cached = profileCache.get(userId);
  if (cached && !options.forceRefresh) {
    return cached;
  }
  const response = await fetch(`/api/users/${encodeURIComponent(userId)}/profile`, {
    headers: { Authorization: `Bearer ${getAccessToken()}` },
  });
  if (!response.ok) {
    throw new HttpError(response.status, await response.text());
  }
  const profile: Profile = await response.json();
  profileCache.set(userId, profile);
  return { ...profile, lastLoadedAt: Date.now() };
}
"""

DIFF = """\
diff --git a/src/billing/invoice.py b/src/billing/invoice.py
index 3fa9c12..b81d0e4 100644
--- a/src/billing/invoice.py
+++ b/src/billing/invoice.py
@@ -41,9 +41,12 @@ class Invoice:
     def total(self) -> Decimal:
-        return sum(line.amount for line in self.lines)
+        net = sum((line.amount for line in self.lines), Decimal(0))
+        return (net * (1 + self.tax_rate)).quantize(CENT)
 
     def due(self, today: date) -> bool:
-        return today > self.date + timedelta(days=30)
+        if self.paid_at is not None:
+            return False
+        return today > self.date + self.terms
"""  # noqa: W293

SEARCH = "".join(
    f"src/{room}/{name}.py:{line}:        return self._{name}[{key!r}]\n"
    for room, name, line, key in (
        *(("billing", "invoice", 12, "net"), ("billing", "reminder", 88, "days")),
        *(("stock", "shelf", 131, "row"), ("stock", "delivery", 7, "carrier")),
        *(("people", "address", 54, "city"), ("people", "contact", 209, "phone")),
        *(("web", "session", 33, "token"), ("web", "router", 71, "prefix")),
    )
)

RECORDS = [
    {"id": 4711 + n, "name": name, "tags": ["new", "paid"], "price": 12.5 * n, "active": n % 2 == 0}
    for n, name in enumerate(("Lamp, small", "Desk (oak)", "Chair", "Shelf 80x120", "Rug"))
]

PROSE = """\
The importer reads the file in chunks, so a large export does not have to fit into memory. If a row
cannot be parsed, it is written to a second file with the reason, and the import goes on. Please make
sure that the totals at the end still agree with what the old system printed, and tell me which rows
were skipped. I would also like the progress bar back that we had before the rewrite.
"""

LISTING = "".join(
    f"-rw-r--r-- 1 ada ada {size:>7} Mar {day:>2} 09:{day + 20} {name}\n"
    for size, day, name in (
        *((1204, 3, "README.md"), (88213, 11, "package-lock.json"), (640, 1, "tsconfig.json")),
        *((15021, 9, "main.ts"), (2230, 28, "router.test.ts"), (417, 14, ".eslintrc.cjs")),
    )
)

SAMPLES = {
    "python": PYTHON,
    "typescript": TYPESCRIPT,
    "diff": DIFF,
    "search": SEARCH,
    "json on one line": json.dumps(RECORDS),
    "json in lines": json.dumps(RECORDS, indent=2),
    "prose": PROSE,
    "listing": LISTING,
    "chinese": "这个函数读取配置文件,如果文件不存在就返回默认值。请先运行测试,然后提交修改。" * 4,
}

TOKENS = {
    "python": (164, 198, 258),
    "typescript": (140, 171, 234),
    "diff": (177, 216, 259),
    "search": (132, 151, 178),
    "json on one line": (185, 190, 228),
    "json in lines": (256, 306, 330),
    "prose": (88, 92, 114),
    "listing": (153, 180, 219),
    "chinese": (92, 157, 156),
}
"""By tiktoken's o200k, and by ctok 1.3 as of Claude 4.5 and 4.8, without what a message adds."""
