import CSystemLibraries
public import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension TransportResponse {
    /// Writes the body to a file while it arrives; see ``ResponseBody/write(to:replacing:progress:)``.
    ///
    /// The caller must check the status: the body of a 404 is written as well.
    ///
    /// - Throws: The errors of ``ResponseBody/write(to:replacing:progress:)``.
    @discardableResult
    public func write(
        to destination: URL, replacing: Bool = false, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Int64 {
        try await body.write(to: destination, replacing: replacing, progress: progress)
    }
}

extension ResponseBody {
    /// Writes the body to a file while it arrives.
    ///
    /// The bytes are written to a temporary file in the destination's folder, which is renamed to the destination when it is complete. If
    /// an error occurs or the task is cancelled, the temporary file is removed and the destination is unchanged.
    ///
    /// - Parameters:
    ///   - destination: The file; its folder must exist.
    ///   - replacing: Whether to replace an existing file. Otherwise an existing file is an error, before any of the body is read.
    ///   - progress: Called with the number of bytes written, in order.
    /// - Returns: The number of bytes written.
    /// - Throws: ``DownloadError``, `CancellationError`, and any error of the transfer.
    @discardableResult
    public func write(
        to destination: URL, replacing: Bool = false, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> Int64 {
        let file = try DownloadFile(destination: destination, replacing: replacing)
        let meter = progress.map { DownloadMeter(total: expectedLength, report: $0) }
        do {
            var written: Int64 = 0
            for try await piece in self {
                try file.write(piece)
                written += Int64(piece.count)
                meter?.passed(piece)
            }
            try Task.checkCancellation()
            try file.moveInPlace()
            meter?.passed(nil)
            return written
        } catch {
            file.discard()
            cancel()
            throw error
        }
    }
}

/// An error that prevents a body from being written to a file.
public struct DownloadError: DescribedError, Sendable {
    /// The error, and the fix.
    public let message: String
    /// Whether the destination already existed and wasn't to be replaced.
    public let destinationExists: Bool

    /// Creates an error with a message.
    public init(message: String, destinationExists: Bool = false) {
        self.message = message
        self.destinationExists = destinationExists
    }

    /// The message.
    public var description: String { message }
}

/// A download in progress: a temporary file in the folder of its destination.
struct DownloadFile {
    private let destination: String
    private let temporary: String
    private let name: String
    private let replacing: Bool
    private let handle: FileHandle

    /// Creates the temporary file.
    init(destination: URL, replacing: Bool) throws(DownloadError) {
        guard destination.isFileURL else {
            throw DownloadError(message: "The destination \(SecretMask.text(of: destination)) isn't a file: give a file URL.")
        }
        let folder = destination.deletingLastPathComponent()
        name = destination.lastPathComponent
        self.destination = destination.path(percentEncoded: false)
        self.replacing = replacing
        var status = csl_file_status()
        if csl_status_at_path(self.destination, false, &status) == 0 {
            guard !status.is_folder else {
                throw DownloadError(message: "The destination \(name) is a folder: name a file in it.", destinationExists: true)
            }
            guard replacing else { throw Self.exists(name) }
        }
        temporary = folder.appending(path: ".download-\(UUID().uuidString)", directoryHint: .notDirectory).path(percentEncoded: false)
        let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            if let shortage = DescriptorShortage.sentence(for: errno) {
                throw DownloadError(message: "No file can be created for the download of \(name) now. \(shortage)")
            }
            throw DownloadError(
                message:
                    "No file can be created for \(name) in \(folder.lastPathComponent) (\(Self.reason)): check whether the folder is writable."
            )
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Appends a piece.
    func write(_ piece: Data) throws(DownloadError) {
        do {
            try handle.write(contentsOf: piece)
        } catch {
            throw DownloadError(message: "The download of \(name) could not be written: is the disk full?")
        }
    }

    /// Renames the file to its destination, atomically.
    func moveInPlace() throws(DownloadError) {
        do {
            try handle.close()
        } catch {
            throw DownloadError(message: "The download of \(name) could not be written to its end: is the disk full?")
        }
        guard replacing || !linkInPlace() else { return }
        if !replacing {
            guard errno != EEXIST else { throw Self.exists(name) }
            // The file system has no links, so a file created between this check and the renaming is replaced.
            guard access(destination, F_OK) != 0 else { throw Self.exists(name) }
        }
        guard rename(temporary, destination) == 0 else {
            throw DownloadError(message: "The download could not be moved to \(name) (\(Self.reason)).")
        }
    }

    /// Gives the file its name if that doesn't exist: a link fails where renaming would replace the file.
    private func linkInPlace() -> Bool {
        guard link(temporary, destination) == 0 else { return false }
        unlink(temporary)
        return true
    }

    /// Removes the temporary file.
    func discard() {
        try? handle.close()
        unlink(temporary)
    }

    private static var reason: String { String(cString: strerror(errno)) }

    private static func exists(_ name: String) -> DownloadError {
        DownloadError(
            message: "The destination \(name) already exists: choose another name, or allow replacing.", destinationExists: true)
    }
}

/// Reports the progress of a response body while it is read, and once more at its end if the total was unknown.
final class DownloadMeter: Sendable {
    private let total: Int64?
    private let report: @Sendable (TransferProgress) -> Void
    private let state = Locked((completed: Int64(0), isFinished: false))

    /// Creates a meter for a body of a given length, if known.
    init(total: Int64?, report: @escaping @Sendable (TransferProgress) -> Void) {
        self.total = total
        self.report = report
    }

    /// Called for each piece, and for the end.
    func passed(_ piece: Data?) {
        let progress: TransferProgress? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.completed += Int64(piece?.count ?? 0)
            state.isFinished = piece == nil || state.completed == total
            return TransferProgress(completed: state.completed, total: state.isFinished ? state.completed : total)
        }
        if let progress { report(progress) }
    }
}
