import Foundation

// log-probe write FOLDER URL COUNT         logs COUNT records into FOLDER/spool and ships them; FOLDER/accepted tells what the spool has
// log-probe finish FOLDER URL              ships what is there
// log-probe endure FOLDER URL SECONDS      logs 1,000 records a second through whatever happens, and prints the accounts
// log-probe outage FOLDER away|slow SECONDS  logs 10,000 records a second, by a clock in a hurry, to nobody; prints memory and disk

let arguments = Array(CommandLine.arguments.dropFirst())
func probe(_ diskBytes: Int) throws -> LogProbe { try LogProbe(folder: arguments[1], url: arguments[2], diskBytes: diskBytes) }

switch (arguments.first, arguments.count) {
case ("write", 4): exit(try await probe(128 << 10).write(Int(arguments[3]) ?? 100) ? 0 : 3)
case ("finish", 3): exit(try await probe(128 << 10).finish() ? 0 : 3)
case ("endure", 4): try await probe(8 << 20).endure(Double(arguments[3]) ?? 2, perSecond: 1_000)
case ("outage", 4):
    let receiver = OutageProbe.Receiver(rawValue: arguments[2]) ?? .away
    try await OutageProbe(folder: arguments[1], receiver: receiver, seconds: Int(arguments[3]) ?? 120).run()
default:
    print("usage: log-probe write FOLDER URL COUNT | finish FOLDER URL | endure FOLDER URL SECONDS | outage FOLDER away|slow SECONDS")
    exit(2)
}
