
/**
 * Where a query dies: the system property lakesql.crash, "before" or "after" and the end of a path. What is on the disk then is what a
 * kill leaves there; the session goes on.
 */
final class CrashPoint {
  private CrashPoint() {}

  static void pass(String when, String path) {
    String point = System.getProperty("lakesql.crash", "");
    int blank = point.indexOf(' ');
    if (blank > 0 && point.substring(0, blank).equals(when) && path.endsWith(point.substring(blank + 1))) {
      throw new IllegalStateException("crash " + point);
    }
  }
}
