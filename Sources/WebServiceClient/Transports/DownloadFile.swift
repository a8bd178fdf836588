import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file that is being downloaded: a temporary one beside its destination, until it takes its place.
struct DownloadFile {
    private let destination: String
    private let temporary: String
    private let name: String
    private let replacing: Bool
    private let handle: FileHandle

    /// Creates the temporary file.
    init(destination: URL, replacing: Bool) throws(DownloadError) {
        guard destination.isFileURL else {
            throw DownloadError(message: "The destination \(SecretMask.text(of: destination)) is no file: give a file URL.")
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
                throw DownloadError(message: "No file can be made for the download of \(name) now. \(shortage)")
            }
            throw DownloadError(
                message:
                    "No file can be made beside \(name) in \(folder.lastPathComponent) (\(Self.reason)): is the folder there and writable?")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Writes a piece at the end.
    func write(_ piece: Data) throws(DownloadError) {
        do {
            try handle.write(contentsOf: piece)
        } catch {
            throw DownloadError(message: "The download of \(name) could not be written: is the disk full?")
        }
    }

    /// Lets the file take its destination's place in one step.
    func moveInPlace() throws(DownloadError) {
        do {
            try handle.close()
        } catch {
            throw DownloadError(message: "The download of \(name) could not be written to its end: is the disk full?")
        }
        guard replacing || !linkInPlace() else { return }
        if !replacing {
            guard errno != EEXIST else { throw Self.exists(name) }
            // The file system has no links; then there is a moment between looking and moving.
            guard access(destination, F_OK) != 0 else { throw Self.exists(name) }
        }
        guard rename(temporary, destination) == 0 else {
            throw DownloadError(message: "The download could not be moved to \(name) (\(Self.reason)).")
        }
    }

    /// Gives the file its name as long as nothing else has it: a link fails where a renaming would replace.
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
            message: "The destination \(name) is there already: choose another name, or allow replacing.", destinationExists: true)
    }
}
