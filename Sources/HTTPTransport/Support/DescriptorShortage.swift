#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Recognizes errors caused by a lack of file descriptors, so that messages don't blame a file or a server.
enum DescriptorShortage {
    /// Returns a sentence for a system error about descriptors; `nil` for any other error.
    ///
    /// - Parameter code: The system's error number, such as `EMFILE`.
    static func sentence(for code: Int32) -> String? {
        switch code {
        case EMFILE:
            "This process has no file descriptor left\(limit): raise its limit (ulimit -n), make fewer calls at once, or look for "
                + "files and connections that are never closed."
        case ENFILE:
            "The system has no file descriptor left for any process: find the process that holds most, or raise the system's limit "
                + "(fs.file-max)."
        default: nil
        }
    }

    /// Returns the same sentence if few descriptors are left now; `nil` otherwise. For failures that a library reports without a system
    /// error.
    static func sentenceNow() -> String? {
        // The failed attempt has already closed its own descriptors, so one open could succeed again: try four.
        var descriptors: [Int32] = []
        var code: Int32 = 0
        for _ in 0..<4 where code == 0 {
            let descriptor = open("/", O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { code = errno } else { descriptors.append(descriptor) }
        }
        for descriptor in descriptors { close(descriptor) }
        return sentence(for: code)
    }

    private static var limit: String {
        let most = sysconf(Int32(_SC_OPEN_MAX))
        return most > 0 ? ", of \(most) that it may have" : ""
    }
}
