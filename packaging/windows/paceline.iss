; The installer for Windows, by Inno Setup 6. `packages/installer.py` defines Version, Folder (the
; finished program), Out and Name (of the file that is made).
; It installs for one user, without an administrator's rights, and asks for none.

#define Program "paceline.exe"
#define Model "Paceline.Model"

[Setup]
; Inno Setup knows by this that another version is the same program. It never changes.
AppId={{C691C407-A8B1-4C67-BB14-9D497BCEA21B}
AppName=Paceline
AppVersion={#Version}
AppVerName=Paceline {#Version}
AppPublisher=Paceline
DefaultDirName={autopf}\Paceline
DisableDirPage=auto
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
ChangesAssociations=yes
UninstallDisplayIcon={app}\{#Program}
Compression=lzma2
SolidCompression=yes
WizardStyle=modern
OutputDir={#Out}
OutputBaseFilename={#Name}

[Languages]
Name: "english"; MessagesFile: "compiler:Default.isl"
Name: "german"; MessagesFile: "compiler:Languages\German.isl"

[CustomMessages]
english.Models=Offer Paceline for model files (.gguf)
german.Models=Paceline für Modelldateien (.gguf) anbieten
english.ModelFile=Language model
german.ModelFile=Sprachmodell
english.Kept=Your chats, settings and models stay in the folder%n%n%1%n%nDelete it if you do not want to keep them.
german.Kept=Ihre Chats, Einstellungen und Modelle bleiben im Ordner%n%n%1%n%nLöschen Sie ihn, wenn Sie sie nicht behalten möchten.

[Tasks]
Name: "models"; Description: "{cm:Models}"; Flags: unchecked
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked

[InstallDelete]
; Of an earlier version no library may stay beside the new ones.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "{#Folder}\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs

[Icons]
Name: "{autoprograms}\Paceline"; Filename: "{app}\{#Program}"
Name: "{autodesktop}\Paceline"; Filename: "{app}\{#Program}"; Tasks: desktopicon

[Registry]
; Among the programs that Windows offers for such files; which one opens them is the user's choice.
Root: HKA; Subkey: "Software\Classes\.gguf\OpenWithProgids"; ValueType: string; ValueName: "{#Model}"; ValueData: ""; Flags: uninsdeletevalue; Tasks: models
Root: HKA; Subkey: "Software\Classes\{#Model}"; ValueType: string; ValueName: ""; ValueData: "{cm:ModelFile}"; Flags: uninsdeletekey; Tasks: models
Root: HKA; Subkey: "Software\Classes\{#Model}\DefaultIcon"; ValueType: string; ValueName: ""; ValueData: "{app}\{#Program},0"; Tasks: models
Root: HKA; Subkey: "Software\Classes\{#Model}\shell\open\command"; ValueType: string; ValueName: ""; ValueData: """{app}\{#Program}"" ""%1"""; Tasks: models

[Run]
Filename: "{app}\{#Program}"; Description: "{cm:LaunchProgram,Paceline}"; Flags: nowait postinstall skipifsilent

[Code]
procedure CurUninstallStepChanged(Step: TUninstallStep);
begin
  if (Step = usPostUninstall) and not UninstallSilent then
    MsgBox(FmtMessage(CustomMessage('Kept'), [ExpandConstant('{localappdata}\paceline')]), mbInformation, MB_OK);
end;
