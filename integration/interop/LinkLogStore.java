import io.delta.storage.LocalLogStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Iterator;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * A LogStore for local disks on which other processes write too: a commit becomes visible by link(2), which fails when the
 * name is taken. Delta's own renames over a commit that another process has just written.
 *
 * <pre>spark.delta.logStore.file.impl = LinkLogStore</pre>
 */
public class LinkLogStore extends LocalLogStore {
  public LinkLogStore(Configuration conf) {
    super(conf);
  }

  @Override
  public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf) throws IOException {
    if (overwrite) {
      super.write(path, actions, true, conf);
      return;
    }
    java.nio.file.Path commit = Paths.get(path.toUri().getPath());
    java.nio.file.Path whole = commit.resolveSibling("." + commit.getFileName() + "." + UUID.randomUUID() + ".tmp");
    StringBuilder text = new StringBuilder();
    while (actions.hasNext()) {
      text.append(actions.next()).append('\n');
    }
    try {
      Files.write(whole, text.toString().getBytes(StandardCharsets.UTF_8));
      Files.createLink(commit, whole);
    } finally {
      Files.deleteIfExists(whole);
    }
  }
}
