#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Recognizes errors that mean that file descriptors are used up, so that no message blames a file or a server for them.
enum DescriptorShortage {
    /// A sentence for an error of the system that is about descriptors; `nil` for any other error.
    ///
    /// - Parameter code: the system's number, such as `EMFILE`.
    static func sentence(for code: Int32) -> String? {
        switch code {
        case EMFILE:
            "This process has no file descriptor left\(limit): raise its limit (ulimit -n), make fewer calls at once, or look for files and "
                + "connections that are never closed."
        case ENFILE:
            "The system has no file descriptor left for any process: look for the one that holds so many, or raise the system's limit "
                + "(fs.file-max)."
        default: nil
        }
    }

    /// The same sentence if hardly any descriptor is left now: for failures that a library reports without the system's error. `nil` otherwise.
    static func sentenceNow() -> String? {
        // The failed attempt has closed its own descriptors by now.
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
