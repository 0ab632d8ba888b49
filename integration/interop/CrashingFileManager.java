import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.FileContextBasedCheckpointFileManager;

/**
 * Spark's own file manager of checkpoints, in which a query dies at a CrashPoint.
 *
 * <pre>spark.sql.streaming.checkpointFileManagerClass = CrashingFileManager</pre>
 */
public class CrashingFileManager extends FileContextBasedCheckpointFileManager {
  public CrashingFileManager(Path path, Configuration conf) {
    super(path, conf);
  }

  @Override
  public void renameTempFile(Path from, Path to, boolean overwrite) {
    CrashPoint.pass("before", to.toString());
    super.renameTempFile(from, to, overwrite);
    CrashPoint.pass("after", to.toString());
  }
}
