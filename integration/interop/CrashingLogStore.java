import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * LinkLogStore, in which a query dies at a CrashPoint.
 *
 * <pre>spark.delta.logStore.file.impl = CrashingLogStore</pre>
 */
public class CrashingLogStore extends LinkLogStore {
  public CrashingLogStore(Configuration conf) {
    super(conf);
  }

  @Override
  public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf) throws IOException {
    CrashPoint.pass("before", path.toString());
    super.write(path, actions, overwrite, conf);
  }
}
