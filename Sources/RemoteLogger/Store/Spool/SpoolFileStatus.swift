import CSystemLibraries

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The kind, owner and permissions of a path.
package struct SpoolFileStatus: Sendable, Hashable {
    /// The kind of file, in words.
    package enum Kind: String, Sendable {
        case file = "a regular file"
        case folder = "a directory"
        case link = "a symbolic link"
        case pipe = "a FIFO"
        case socket = "a socket"
        case device = "a device"
    }

    package let kind: Kind
    /// The user ID of the owner.
    package let owner: UInt32
    /// The permissions, including the sticky bit.
    package let mode: UInt32

    package init(kind: Kind, owner: UInt32, mode: UInt32) {
        self.kind = kind
        self.owner = owner
        self.mode = mode
    }

    /// Returns why a spool can't use the path; `nil` if it can.
    ///
    /// The owner of a directory, and every user with write access, can replace a file after the spool has checked it. The directory must
    /// therefore belong to this process's user or to root, and no other user may have write access. A directory with the sticky bit is
    /// allowed, because other users can't replace files in it that aren't theirs.
    ///
    /// - Parameters:
    ///   - path: The path, for the message.
    ///   - wanted: The required kind.
    ///   - user: The effective user of this process.
    ///   - accepted: Another trusted owner: see ``SpoolDirectory/acceptedOwner(_:user:)``.
    package func objection(at path: String, wanted: Kind, user: UInt32, accepted: UInt32? = nil) -> SpoolFault? {
        guard kind == wanted else {
            let noun = wanted == .folder ? "directory" : "regular file"
            return SpoolFault(
                kind == .link ? ELOOP : EINVAL, "lstat",
                detail: "\(path) is \(kind.rawValue), not a \(noun): it isn't followed, read or deleted. "
                    + "Remove it, or give the spool another directory")
        }
        let about = "(owner \(owner), mode \(String(mode, radix: 8)); this process runs as user \(user))"
        guard owner == user || owner == 0 || owner == accepted else {
            return SpoolFault(
                EPERM, "lstat",
                detail: "\(path) belongs to another user \(about): give it to user \(user) by chown, or give the spool another directory")
        }
        guard mode & 0o022 == 0 || kind == .folder && mode & 0o1000 != 0 else {
            return SpoolFault(
                EPERM, "lstat",
                detail: "\(path) can be written to by other users \(about): revoke that by chmod go-w, or give the spool another "
                    + "directory, such as a new one in it")
        }
        return nil
    }
}

extension SpoolFileStatus {
    init(_ status: csl_file_status) {
        let kind: Kind =
            if status.is_regular {
                .file
            } else if status.is_folder {
                .folder
            } else if status.is_link {
                .link
            } else if status.is_pipe {
                .pipe
            } else if status.is_socket {
                .socket
            } else {
                .device
            }
        self.init(kind: kind, owner: status.owner, mode: status.mode)
    }
}
